/** The thread of the press. */
import { parentPort } from 'node:worker_threads';
import { writeElectronic } from './electronic.ts';
import { facturX } from './facturX.ts';
import type { Paper } from './paper.ts';
import { drawPdf } from './pdf.ts';
import type { Delivery, Format, Order } from './press.ts';

parentPort?.on('message', async ({ id, paper, format, logo }: Order) => {
  try {
    deliver({ id, bytes: await make(paper, format, logo && Buffer.from(logo)) });
  } catch (error) {
    deliver({ id, error: error instanceof Error ? error : new Error(String(error)) });
  }
});

async function make(paper: Paper, format: Format, logo: Buffer | null): Promise<Buffer> {
  if (format === 'pdf') return drawPdf(paper, [], logo);
  if (format === 'factur-x') return drawPdf(paper, [facturX(await writeElectronic(paper, 'cii'))], logo);
  return writeElectronic(paper, format);
}

function deliver(delivery: Delivery): void {
  parentPort?.postMessage(delivery);
}
