a:
  test.nop:
    - require: [{test: b}]
      k: 1
b: test.nop
