a:
  cmd.run:
    - require_in: [{service: b}]
b:
  pkg.installed: []
