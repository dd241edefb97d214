app_version: 1.4.2
