import { Type } from 'typebox';
import { line, named, Strict } from '../../platform/http/index.ts';

export const KeyForToken = named('ShieldKey', Strict({ key: line(512) }));

export const Token = Type.Object({ token: Type.String({ description: 'For the header `token`' }) });
