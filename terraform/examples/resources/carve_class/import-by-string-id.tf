import {
  to = carve_class.nodes
  id = "team-a/nodes"
}
