terraform import carve_member.alice 'team-a/corp:alice@example.com'
