include: [b]
extend:
  web:
    service:
      - enable: false
      - reload: true
