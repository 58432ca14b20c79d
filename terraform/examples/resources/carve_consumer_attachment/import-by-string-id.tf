import {
  to = carve_consumer_attachment.node
  id = "team-a/attached-cluster/default/node-1"
}
