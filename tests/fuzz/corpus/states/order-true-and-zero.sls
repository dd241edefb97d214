a:
  test.nop: [{order: true}]
b:
  test.nop: [{order: 0}]
c: test.nop
