import type { Client, Response } from './client.ts';

/** One entry of a bank's file, as the tests need it. */
export interface FileEntry {
  amount?: string;
  currency?: string;
  text?: string;
  structured?: string;
  name?: string;
  iban?: string;
  reference?: string | null;
  day?: string;
  out?: boolean;
  status?: string;
  reversal?: boolean;
}

let written = 0;

/** A statement as banks write it (camt.053.001.08, or an older version). */
export function camt(
  entries: FileEntry[],
  options: { name?: string; version?: string; account?: string } = {},
): string {
  written += 1;
  const { name = `S-${written}`, version = '08', account = 'DE02120300000000202051' } = options;
  const isOld = Number(version) < 8;
  const lines = entries.map((entry, index) => {
    const { amount = '3.00', currency = 'EUR', day = '2026-01-31', status = 'BOOK' } = entry;
    const party = entry.out ? 'Cdtr' : 'Dbtr';
    const name = safe(entry.name ?? 'Ada Lovelace');
    const reference = entry.reference === undefined ? `B-${written}-${index + 1}` : entry.reference;
    return `<Ntry><Amt Ccy="${currency}">${amount}</Amt><CdtDbtInd>${entry.out ? 'DBIT' : 'CRDT'}</CdtDbtInd>
      ${entry.reversal ? '<RvslInd>true</RvslInd>' : ''}
      ${isOld ? `<Sts>${status}</Sts>` : `<Sts><Cd>${status}</Cd></Sts>`}<BookgDt><Dt>${day}</Dt></BookgDt>
      ${reference === null ? '' : `<AcctSvcrRef>${reference}</AcctSvcrRef>`}
      <NtryDtls><TxDtls><Refs><EndToEndId>NOTPROVIDED</EndToEndId></Refs><RltdPties>
        <${party}>${isOld ? `<Nm>${name}</Nm>` : `<Pty><Nm>${name}</Nm></Pty>`}</${party}>
        <${party}Acct><Id><IBAN>${entry.iban ?? 'DE75512108001245126199'}</IBAN></Id></${party}Acct></RltdPties>
        <RmtInf>${entry.structured ? `<Strd><CdtrRefInf><Ref>${entry.structured}</Ref></CdtrRefInf></Strd>` : ''}
          <Ustrd>${safe(entry.text ?? 'thank you')}</Ustrd></RmtInf></TxDtls></NtryDtls></Ntry>`;
  });
  return `<?xml version="1.0" encoding="UTF-8"?>
    <Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.${version}"><BkToCstmrStmt>
    <GrpHdr><MsgId>M-${name}</MsgId></GrpHdr><Stmt><Id>${name}</Id><Acct><Id><IBAN>${account}</IBAN></Id></Acct>
    ${lines.join('\n')}</Stmt></BkToCstmrStmt></Document>`;
}

function safe(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}

export function sendStatement(
  staff: Client,
  xml: string,
  headers: Record<string, string> = {},
): Promise<Response> {
  return staff.request('POST', '/staff/bank-statements', xml, {
    'content-type': 'application/xml',
    ...headers,
  });
}
