/**
 * Who stands on a document, as the invoice keeps it from the day it was written. Names are those of the settings and of
 * the billing profile; what an older invoice lacks is absent.
 */
export interface Party {
  name: string;
  address_line1?: string | null;
  address_line2?: string | null;
  postal_code?: string | null;
  city?: string | null;
  region?: string | null;
  /** ISO 3166-1. */
  country?: string | null;
  email?: string | null;
  /** Of a buyer in the European Union, its VAT id; of the seller, what its tax office knows it by. */
  tax_id?: string | null;
}

export interface Seller extends Party {
  vat_id?: string | null;
  /** Register and number, as companies have to say. */
  register?: string | null;
  contact?: string | null;
  phone?: string | null;
  website?: string | null;
  bank?: string | null;
  iban?: string | null;
  bic?: string | null;
  /** `#1b4965`. */
  colour?: string | null;
  /** What the picture is called that stands on its documents. */
  logo?: string | null;
}

export interface Buyer extends Party {
  /** Which language its documents are in: `de`. */
  language?: string | null;
  /** By which a public buyer is found; in Germany the Leitweg-ID. */
  routing_id?: string | null;
  /** The buyer's own number of the order. */
  order_number?: string | null;
}
