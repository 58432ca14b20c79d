terraform import carve_quota.all 'team-a/all'
