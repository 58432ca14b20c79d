terraform import carve_consumer.machine 'team-a/default/vm-7c1f'
