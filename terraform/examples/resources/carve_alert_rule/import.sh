terraform import carve_alert_rule.nearly_full 'team-a/nearly-full'
