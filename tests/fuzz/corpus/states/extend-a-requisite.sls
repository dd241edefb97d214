web:
  service.running:
    - watch:
      - pkg: p
p: pkg.installed
