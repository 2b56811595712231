/** The program that reads one mail: the mail comes by standard input, and what it says goes out as JSON. */
import { buffer } from 'node:stream/consumers';
import { parseMail } from './parseMail.ts';

process.stdout.write(JSON.stringify(await parseMail(await buffer(process.stdin))));
