# What every host of the demonstration gets. `site` is where it may write; a real host would say /etc and /srv.
{% set site = salt['grains.get']('site') %}

{{ site }}/etc:
  file.directory:
    - mode: '0755'
    - makedirs: True

motd:
  file.managed:
    - name: {{ site }}/etc/motd
    - source: salt://common/motd.j2
    - template: jinja
    - require:
      - file: {{ site }}/etc

hosts:
  file.blockreplace:
    - name: {{ site }}/etc/hosts
    - marker_start: '# from here on Salt writes'
    - marker_end: '# up to here'
    - append_if_not_found: True
    - content: |
        {%- for name, address in pillar['hosts'] | dictsort %}
        {{ address }} {{ name }}
        {%- endfor %}
    - require:
      - file: hosts file is there

hosts file is there:
  file.touch:
    - name: {{ site }}/etc/hosts
    - creates: {{ site }}/etc/hosts
    - require:
      - file: {{ site }}/etc
