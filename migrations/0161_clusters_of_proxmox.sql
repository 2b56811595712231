-- In a cluster of Proxmox VE each member presents a certificate of its own, we are known by a token, files have a storage of their own,
-- and machines have numbers, of which a range is ours.
alter table clusters
  -- Besides the first one, for a version that knows of no more.
  add column further_fingerprints text[] not null default '{}',
  alter column certificate drop not null,
  add column token_id text,
  add column files text,
  add column first_vmid integer,
  add column last_vmid integer,
  add constraint clusters_access check (case engine
    when 'proxmox' then num_nulls(token_id, files, first_vmid, last_vmid) = 0 and certificate is null
    else certificate is not null and num_nonnulls(token_id, files, first_vmid, last_vmid) = 0 end);
