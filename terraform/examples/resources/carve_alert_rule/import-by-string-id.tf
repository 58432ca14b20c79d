import {
  to = carve_alert_rule.nearly_full
  id = "team-a/nearly-full"
}
