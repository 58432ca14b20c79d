terraform import carve_claim.gateway 'team-a/web-gateway'
