-- purpose: how much was checked
-- index:   none: the audit reads whole tables, in one snapshot, outside of the hot path
-- rows:    all
-- locks:   none
-- region:  every, because an audit is about all of them
SELECT
    (SELECT count(*) FROM projects),
    (SELECT count(*) FROM spaces),
    (SELECT count(*) FROM pools),
    (SELECT count(*) FROM claims),
    (SELECT count(*) FROM allocations),
    (SELECT count(*) FROM free_blocks)
