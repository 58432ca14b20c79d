terraform import carve_project.billing 'billing'
