terraform import carve_webhook.inventory 'team-a/inventory'
