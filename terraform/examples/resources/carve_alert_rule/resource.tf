resource "carve_alert_rule" "nearly_full" {
  name           = "nearly-full"
  about          = "Pools"
  percent        = 80
  label_selector = "env=prod"
}

resource "carve_alert_rule" "full_in_a_week" {
  name   = "full-in-a-week"
  about  = "Pools"
  runway = "168h"
}
