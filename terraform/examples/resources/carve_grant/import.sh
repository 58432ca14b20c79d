terraform import carve_grant.team_b 'team-a/pools/shared/team-b'
