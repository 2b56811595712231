-- Why its customer cannot use a server that is rented, as staff found it; null: they can. When it comes back it is kept out of stock for that.
alter table servers add column out_of_order text;
alter table server_bmcs
  -- By what a BMC is told from another one at its address (its system GUID, or the UUID of what Redfish manages); empty: it has none; null: it was not asked yet.
  add column uuid text,
  -- When it was asked last who it is.
  add column identified_at timestamptz,
  -- Of another one that answered at its address instead, until staff accepts it or it is gone; empty: that has none.
  add column other_uuid text;
