x:
  test.nop:
    - order: 5
    - names: [a, b]
y: test.nop
