/** What a proof of erasure says, by language. */
export interface ProofTexts {
  title: string;
  service: string;
  server: string;
  serial: string;
  began: string;
  ended: string;
  disks: string;
  about: string;
  disk: (nth: number, of: number) => string;
  model: string;
  size: string;
  bytes: (bytes: number) => string;
  method: string;
  methods: Readonly<Record<string, string>>;
  drive: string;
  driveStatus: Readonly<Record<'passed' | 'failed' | 'unknown', string>>;
  samples: string;
  marks: (marks: number, left: number, notZero: number) => string;
  tried: string;
  exit: (method: string, code: number) => string;
  signature: string;
  key: string;
  keys: string;
  signed: string;
  unsigned: string;
  file: string;
}

const en: ProofTexts = {
  title: 'Proof of erasure',
  service: 'Service',
  server: 'Server',
  serial: 'Serial number',
  began: 'Begun',
  ended: 'Ended',
  disks: 'Disks',
  about:
    'The service has ended, and every disk of its server was wiped as follows. Before that, marks were written to places all over each disk; afterwards these places were read.',
  disk: (nth, of) => `Disk ${nth} of ${of}`,
  model: 'Model',
  size: 'Size',
  bytes: (bytes) => `${bytes.toLocaleString('en')} bytes`,
  method: 'Method',
  methods: {
    'sanitize-block': 'the drive erased all blocks (sanitize)',
    'sanitize-crypto': 'the drive threw its key away (sanitize)',
    'format-crypto': 'the drive threw its key away (format)',
    'format-user-data': 'the drive erased all user data (format)',
    'ata-enhanced': 'the drive erased itself (enhanced security erase)',
    ata: 'the drive erased itself (security erase)',
    'sanitize-overwrite': 'the drive overwrote all of itself (sanitize)',
    overwrite: 'overwritten with zeros',
  },
  drive: "Drive's own status",
  driveStatus: { passed: 'passed (SMART)', failed: 'failed (SMART)', unknown: 'the drive says nothing' },
  samples: 'Samples read',
  marks: (marks, left, notZero) =>
    `${marks} places were marked, ${left} marks could be read afterwards, ${notZero} of the places hold something else than zeros`,
  tried: 'Programs',
  exit: (method, code) => (code === 0 ? `${method}: ended well` : `${method}: ended with ${code}`),
  signature: 'Signature',
  key: 'Key',
  keys: 'Where it is published',
  signed:
    'The same is inside this PDF as the file erasure.jws, signed with Ed25519 (JSON Web Signature, RFC 7515). Whoever has it can verify it with the key named here, without us.',
  unsigned: 'This proof is not signed.',
  file: 'The proof, signed, for programs',
};

const de: ProofTexts = {
  title: 'Löschnachweis',
  service: 'Vertrag',
  server: 'Server',
  serial: 'Seriennummer',
  began: 'Beginn',
  ended: 'Ende',
  disks: 'Datenträger',
  about:
    'Der Vertrag ist beendet, und jeder Datenträger des Servers wurde wie folgt gelöscht. Zuvor wurden überall auf jedem Datenträger Marken geschrieben; danach wurden diese Stellen gelesen.',
  disk: (nth, of) => `Datenträger ${nth} von ${of}`,
  model: 'Modell',
  size: 'Größe',
  bytes: (bytes) => `${bytes.toLocaleString('de')} Bytes`,
  method: 'Verfahren',
  methods: {
    'sanitize-block': 'das Laufwerk hat alle Blöcke gelöscht (Sanitize)',
    'sanitize-crypto': 'das Laufwerk hat seinen Schlüssel verworfen (Sanitize)',
    'format-crypto': 'das Laufwerk hat seinen Schlüssel verworfen (Format)',
    'format-user-data': 'das Laufwerk hat alle Nutzdaten gelöscht (Format)',
    'ata-enhanced': 'das Laufwerk hat sich selbst gelöscht (Enhanced Security Erase)',
    ata: 'das Laufwerk hat sich selbst gelöscht (Security Erase)',
    'sanitize-overwrite': 'das Laufwerk hat sich ganz überschrieben (Sanitize)',
    overwrite: 'mit Nullen überschrieben',
  },
  drive: 'Zustand laut Laufwerk',
  driveStatus: { passed: 'in Ordnung (SMART)', failed: 'defekt (SMART)', unknown: 'keine Angabe' },
  samples: 'Gelesene Stellen',
  marks: (marks, left, notZero) =>
    `${marks} Stellen wurden markiert, ${left} Marken waren danach noch lesbar, ${notZero} der Stellen enthalten etwas anderes als Nullen`,
  tried: 'Programme',
  exit: (method, code) => (code === 0 ? `${method}: erfolgreich` : `${method}: endete mit ${code}`),
  signature: 'Signatur',
  key: 'Schlüssel',
  keys: 'Veröffentlicht unter',
  signed:
    'Dasselbe liegt diesem PDF als Datei erasure.jws bei, mit Ed25519 signiert (JSON Web Signature, RFC 7515). Wer sie hat, kann sie mit dem genannten Schlüssel ohne uns prüfen.',
  unsigned: 'Dieser Nachweis ist nicht signiert.',
  file: 'Der Nachweis, signiert, für Programme',
};

export const proofTexts = { en, de };
