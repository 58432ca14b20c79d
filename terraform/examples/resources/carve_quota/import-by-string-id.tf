import {
  to = carve_quota.all
  id = "team-a/all"
}
