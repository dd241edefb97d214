include: [b]
extend:
  web:
    test:
      - k: 2
      - j: 3
