terraform import carve_pool.prod 'team-a/eu-prod'
