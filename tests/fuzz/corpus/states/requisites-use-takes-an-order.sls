a:
  test.nop:
    - use: [{test: b}]
b:
  test.nop:
    - order: 3
