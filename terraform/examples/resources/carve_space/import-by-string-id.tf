import {
  to = carve_space.vrf
  id = "team-a/vrf-blue"
}
