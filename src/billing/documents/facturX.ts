import type { Attachment } from './pdf.ts';

const namespace = 'urn:factur-x:pdfa:CrossIndustryDocument:invoice:1p0#';

/** What the metadata says of the invoice inside, and that these properties may be there (PDF/A extension schema). */
const properties: [name: string, value: string, description: string][] = [
  ['DocumentFileName', 'factur-x.xml', 'name of the embedded XML invoice file'],
  ['DocumentType', 'INVOICE', 'INVOICE'],
  ['Version', '1.0', 'version of the standard of the embedded XML'],
  ['ConformanceLevel', 'EN 16931', 'conformance level of the embedded XML'],
];

/** The XML of an invoice (CII, EN 16931) as Factur-X 1.0 puts it into its PDF. */
export function facturX(xml: Buffer): Attachment {
  const values = properties.map(([name, value]) => `<fx:${name}>${value}</fx:${name}>`).join('');
  const declared = properties
    .map(
      ([name, , description]) =>
        `<rdf:li rdf:parseType="Resource"><pdfaProperty:name>${name}</pdfaProperty:name>` +
        '<pdfaProperty:valueType>Text</pdfaProperty:valueType><pdfaProperty:category>external</pdfaProperty:category>' +
        `<pdfaProperty:description>${description}</pdfaProperty:description></rdf:li>`,
    )
    .join('');
  return {
    name: 'factur-x.xml',
    bytes: xml,
    type: 'text/xml',
    description: 'Invoice, EN 16931',
    metadata:
      `<rdf:Description xmlns:fx="${namespace}" rdf:about="">${values}</rdf:Description>` +
      '<rdf:Description rdf:about="" xmlns:pdfaExtension="http://www.aiim.org/pdfa/ns/extension/" ' +
      'xmlns:pdfaSchema="http://www.aiim.org/pdfa/ns/schema#" xmlns:pdfaProperty="http://www.aiim.org/pdfa/ns/property#">' +
      '<pdfaExtension:schemas><rdf:Bag><rdf:li rdf:parseType="Resource">' +
      '<pdfaSchema:schema>Factur-X PDFA Extension Schema</pdfaSchema:schema>' +
      `<pdfaSchema:namespaceURI>${namespace}</pdfaSchema:namespaceURI><pdfaSchema:prefix>fx</pdfaSchema:prefix>` +
      `<pdfaSchema:property><rdf:Seq>${declared}</rdf:Seq></pdfaSchema:property></rdf:li></rdf:Bag>` +
      '</pdfaExtension:schemas></rdf:Description>',
  };
}
