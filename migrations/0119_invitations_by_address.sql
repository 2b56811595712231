-- Where registration is for those who were invited, an address is looked for among all invitations.
create index invitations_email on invitations (lower(email));
