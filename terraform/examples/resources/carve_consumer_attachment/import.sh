terraform import carve_consumer_attachment.node 'team-a/attached-cluster/default/node-1'
