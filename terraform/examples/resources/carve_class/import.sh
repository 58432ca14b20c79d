terraform import carve_class.nodes 'team-a/nodes'
