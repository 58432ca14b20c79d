resource "carve_class" "nodes" {
  name                  = "nodes"
  ip_family             = "IPv4"
  min_prefix_length     = 24
  max_prefix_length     = 28
  default_prefix_length = 26
  reclaim_policy        = "Retain"
}

resource "carve_pool" "nodes" {
  name    = "nodes"
  cidr    = "10.96.0.0/16"
  classes = [carve_class.nodes.name]
}
