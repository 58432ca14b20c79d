-- purpose: the admins of a project that stay admins by themselves: members, and keys that never expire
-- index:   members_pkey, api_keys_name_key
-- rows:    the project's members and keys
-- locks:   none
SELECT
    (SELECT count(*) FROM members WHERE project_id = $1 AND role = 'admin')
    + (SELECT count(*) FROM api_keys WHERE project_id = $1 AND role = 'admin' AND expires_at IS NULL)
