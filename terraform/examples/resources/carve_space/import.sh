terraform import carve_space.vrf 'team-a/vrf-blue'
