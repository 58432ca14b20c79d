import {
  to = carve_consumer.machine
  id = "team-a/default/vm-7c1f"
}
