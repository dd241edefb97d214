{% set site = salt['grains.get']('site') %}

{{ site }}/lb/releases:
  file.append:
    - text: "{{ pillar['line'] }}"
    - makedirs: True
