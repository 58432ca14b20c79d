resource "carve_claim" "cluster" {
  name          = "attached-cluster"
  pool          = "prod"
  prefix_length = 28
  max_consumers = 3
}

resource "carve_consumer" "node" {
  uid  = "node-1"
  kind = "Node"
}

resource "carve_consumer_attachment" "node" {
  claim = carve_claim.cluster.name
  uid   = carve_consumer.node.uid
}
