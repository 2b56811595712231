import { IdParams, routes } from '../../platform/http/index.ts';
import { ErasureData, ErasurePdfQuery } from '../schema.ts';
import { erasureExamples } from './examples.ts';
import { listErasedDisks, readProof, readProofPdf } from './list.ts';
import * as S from './schema.ts';

const fleet = { auth: 'staff', area: 'vps', staffRoles: ['administrator', 'operator'] } as const;
const group = {
  tag: 'Staff: erasures',
  about: 'Proofs that the disks of servers were wiped when these came back.',
  examples: erasureExamples,
};

export const erasureRoutes = routes('/staff/erasures', group, (route) => {
  route.get(
    '',
    {
      ...fleet,
      operation: 'listErasedDisks',
      summary: 'List erased disks',
      description:
        'Every disk of which a signed proof says that it was wiped, found by its serial number, its server or the service that had it. One that could not be wiped keeps its server out of stock and is not here.',
      query: S.DiskQuery,
      data: S.DiskList,
    },
    (ctx, req) => listErasedDisks(ctx, req.query),
  );
  route.get(
    '/:id',
    {
      ...fleet,
      params: IdParams,
      operation: 'getErasureProof',
      summary: 'Get a proof of erasure by its id',
      description: 'One proof, as its customer reads it, signature and all.',
      data: ErasureData,
      errors: ['not_found'],
    },
    (ctx, req) => readProof(ctx, req.params.id),
  );
  route.get(
    '/:id/pdf',
    {
      ...fleet,
      params: IdParams,
      operation: 'getErasureProofPdf',
      summary: 'Get a proof of erasure by its id as PDF',
      description: 'The proof as PDF/A-3, with what was signed inside it as the file `erasure.jws`.',
      query: ErasurePdfQuery,
      produces: 'application/pdf',
      drivers: ['files'],
      errors: ['not_found'],
      limit: 'documents',
    },
    (ctx, req) => readProofPdf(ctx, req.drivers.files, req.params.id, req.query.language),
  );
});
