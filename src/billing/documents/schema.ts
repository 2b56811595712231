import { Type } from 'typebox';
import { Choice, Day, Strict } from '../../platform/http/index.ts';
import { type ElectronicFormat, electronicFormats } from './electronic.ts';

export const ExportQuery = Strict({
  from: Type.Optional({ ...Day, description: 'First day of issue (UTC); default: the first there is' }),
  to: Type.Optional({ ...Day, description: 'Last day of issue (UTC); default: the last there is' }),
});

export const PdfQuery = Strict({
  format: Choice(['pdf', 'factur-x'], {
    default: 'pdf',
    description: 'With `factur-x` the PDF carries the electronic invoice (EN 16931) for programs to read',
  }),
});

export const XmlQuery = Strict({
  format: Choice(Object.keys(electronicFormats) as ElectronicFormat[], {
    default: 'ubl',
    description: 'The syntax; XRechnung is what public buyers in Germany take, in either',
  }),
});
