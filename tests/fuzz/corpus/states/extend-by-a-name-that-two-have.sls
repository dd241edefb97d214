include: [b]
extend:
  nginx:
    service:
      - enable: false
