-- When a page was last closed and looked at because something was about to end for want of the money.
alter table charges add column page_asked_at timestamptz;
