/** What a request says of one of its fields, as far as a form can hold what is typed to it. */
export interface RequestField {
  /** Sent as a number. */
  isNumber?: 'integer' | 'number';
  isRequired: boolean;
  minLength?: number;
  maxLength?: number;
  pattern?: string;
  /** What is said when the pattern is not kept. */
  message?: string;
  minimum?: number;
  maximum?: number;
  choices?: readonly string[];
  /** What it means, in English, for people. */
  help?: string;
}

/** By their names, as `details` of an error names them; what is in a list by `pages[].url`. */
export type RequestFields = Readonly<Record<string, RequestField>>;
