import {
  to = carve_grant.team_b
  id = "team-a/pools/shared/team-b"
}
