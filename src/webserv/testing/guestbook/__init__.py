"""A site that builds in a second: one page of entries in SQLite. For tests of engines, pools and routers."""
