/** The thread of the press. */
import { parentPort } from 'node:worker_threads';
import { writeElectronic } from './electronic.ts';
import { facturX } from './facturX.ts';
import type { Paper } from './paper.ts';
import { drawPdf } from './pdf.ts';
import type { Delivery, Format, Order } from './press.ts';

parentPort?.on('message', async ({ id, paper, format }: Order) => {
  try {
    deliver({ id, bytes: await make(paper, format) });
  } catch (error) {
    deliver({ id, error: error instanceof Error ? error : new Error(String(error)) });
  }
});

async function make(paper: Paper, format: Format): Promise<Buffer> {
  if (format === 'pdf') return drawPdf(paper);
  if (format === 'factur-x') return drawPdf(paper, [facturX(await writeElectronic(paper, 'cii'))]);
  return writeElectronic(paper, format);
}

function deliver(delivery: Delivery): void {
  parentPort?.postMessage(delivery);
}
