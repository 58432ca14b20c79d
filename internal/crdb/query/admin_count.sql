-- purpose: count the admins of a project whose role does not expire: members, and keys without an expiry
-- index:   members_pkey, api_keys_name_key
-- rows:    the project's members and keys
-- locks:   none
SELECT
    (SELECT count(*) FROM members WHERE project_id = $1 AND role = 'admin')
    + (SELECT count(*) FROM api_keys WHERE project_id = $1 AND role = 'admin' AND expires_at IS NULL)
