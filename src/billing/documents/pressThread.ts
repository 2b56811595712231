/** The thread of the press. */
import { parentPort } from 'node:worker_threads';
import { writeElectronic } from './electronic.ts';
import { facturX } from './facturX.ts';
import { drawPdf } from './pdf.ts';
import type { Delivery, Order, Work } from './press.ts';
import { drawSheet } from './sheet.ts';

parentPort?.on('message', async ({ id, work }: Order) => {
  try {
    deliver({ id, bytes: await make(work) });
  } catch (error) {
    deliver({ id, error: error instanceof Error ? error : new Error(String(error)) });
  }
});

async function make(work: Work): Promise<Buffer> {
  const logo = work.logo && Buffer.from(work.logo);
  if (work.kind === 'sheet') return drawSheet(work.sheet, work.seller, logo);
  const { paper, format } = work;
  if (format === 'pdf') return drawPdf(paper, [], logo);
  if (format === 'factur-x') return drawPdf(paper, [facturX(await writeElectronic(paper, 'cii'))], logo);
  return writeElectronic(paper, format);
}

function deliver(delivery: Delivery): void {
  parentPort?.postMessage(delivery);
}
