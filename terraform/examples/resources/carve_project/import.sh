terraform import carve_project.shops 'shops'
