-- +goose NO TRANSACTION
-- +goose Up
-- Until here a database had one region, which is that of every project's spaces: all claims are there.
INSERT INTO project_regions (project_id, region)
SELECT DISTINCT s.project_id, s.region
FROM spaces AS s
ON CONFLICT (project_id, region) DO NOTHING;
